import { questionFields, supportingText } from '@handraise/elicitation'
import type { ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'
import type { ApprovalPayload, ApprovalSubject } from '@handraise/user-approvals'
import type { Question } from '@handraise/user-questions/types'
import { escaped, fenced } from './markdown.ts'

/**
 * The tool call a permission is about, as the editor shows it: what is asked in its title, all the rest below. It is
 * `pending`: a call that is said to run takes the dialog down in some editors.
 */
export function toToolCall(
  toolCallId: string,
  question: Question,
  { approval, notice }: { approval?: ApprovalPayload | undefined; notice?: string | undefined },
): ToolCallUpdate {
  const [{ offered } = { offered: [] }] = questionFields([question])
  const supporting = supportingText(question, offered, 'folded').join('\n\n')
  // What is asked must be seen letter by letter, with every blank and break.
  const text = [escaped(notice ?? ''), fenced(supporting)].filter(part => part !== '')
  return {
    toolCallId,
    title: escaped(question.question),
    kind: approval === undefined ? 'other' : KIND_OF_SUBJECT[kindOf(approval.subject)],
    status: 'pending',
    ...(approval === undefined ? {} : { name: approval.toolName, rawInput: approval.subject }),
    ...(text.length === 0
      ? {}
      : { content: [{ type: 'content', content: { type: 'text', text: text.join('\n\n') } }] }),
  }
}

const KIND_OF_SUBJECT = {
  shell: 'execute',
  network: 'fetch',
  tool: 'other',
  read: 'read',
  write: 'edit',
  create: 'edit',
  delete: 'delete',
  execute: 'execute',
} as const satisfies Record<string, ToolKind>

function kindOf(subject: ApprovalSubject): keyof typeof KIND_OF_SUBJECT {
  return subject.kind === 'fileAccess' ? subject.access : subject.kind
}
