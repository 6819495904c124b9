import type { HookCallbackMatcher, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk'
import { LONGEST_MS, withPatience } from '../patience.ts'
import type { Asker } from '../tool.ts'
import { questionAsker, type Asked, type QuestionOptions } from './ask-questions.ts'
import { DeferredCalls } from './deferred-calls.ts'
import { QUESTION_TOOL } from './question-input.ts'
import { isOnlyCall, wasDeferred } from './transcript.ts'

/** What a hook is told of a call. */
export interface HookCall {
  readonly toolUseID: string
}

export interface DeferOptions extends QuestionOptions<HookCall> {
  /** How long a run waits for the answer before it ends to be resumed, in milliseconds. Enough to look up one that was given. */
  readonly patienceMs: number
}

/**
 * A `PreToolUse` hook that answers `AskUserQuestion`, and ends the run where no answer comes in time, or the host goes down:
 * the result names the call as `deferred_tool_use`, the question stays open in the inbox, and the run goes on when its session
 * is resumed, with this hook again: `hooks: { PreToolUse: [deferQuestions(ctx.userQuestions, { patienceMs: 60_000 })] }`. It
 * needs an inbox, and `canUseTool` beside it, without which the CLI does not offer the tool.
 *
 * The CLI goes on with a call that was the only one of its turn, and only once. So the run waits to the end for a question
 * that has others beside it, of any tool, and for one that was deferred before; both it knows by the transcript of the session,
 * and where that does not tell within 10 seconds what the turn has, it waits to the end as well.
 */
export function deferQuestions(asker: Asker, { patienceMs, ...options }: DeferOptions): HookCallbackMatcher {
  const answer = questionAsker(asker, options)
  const sessions = new DeferredCalls()
  return {
    matcher: `^${QUESTION_TOOL}$`,
    // In seconds, past which the CLI would go on without the hook.
    timeout: Math.floor(LONGEST_MS / 1000),
    hooks: [
      async (hook, toolUseID, { signal }) => {
        if (hook.hook_event_name !== 'PreToolUse' || toolUseID === undefined) return {}
        const call = sessions.enter(hook.session_id, toolUseID)
        const over = new AbortController()
        try {
          const { transcript_path: transcript } = hook
          const isResumed = call.isResumed || (await wasDeferred(transcript, toolUseID))
          const ask = (whileWaiting: AbortSignal): Promise<Asked> =>
            answer(hook.tool_input, { callId: toolUseID, signal: whileWaiting, from: { toolUseID } })
          const defer = async (): Promise<boolean> => {
            const isOnly = call.isAlone() && (await isOnlyCall(transcript, toolUseID, over.signal))
            // Another one may have come meanwhile.
            if (!isOnly || !call.isAlone()) return false
            call.defer()
            return true
          }
          const asked = await withPatience(patienceMs, signal, ask, () => !isResumed && defer())
          if (asked === undefined) return toOutput(undefined)
          call.settle()
          const isLeft = asked.updatedInput === undefined && asked.leftOpen
          return toOutput(isLeft && (await defer()) ? undefined : asked)
        } finally {
          over.abort()
          call.leave()
        }
      },
    ],
  }
}

function toOutput(asked: Asked | undefined): HookJSONOutput {
  const hookEventName = 'PreToolUse'
  if (asked === undefined) return { hookSpecificOutput: { hookEventName, permissionDecision: 'defer' } }
  const { updatedInput } = asked
  if (updatedInput !== undefined)
    return { hookSpecificOutput: { hookEventName, permissionDecision: 'allow', updatedInput } }
  const { message, stop } = asked
  return {
    ...(stop ? { continue: false, stopReason: message } : {}),
    hookSpecificOutput: {
      hookEventName,
      permissionDecision: 'deny',
      permissionDecisionReason: message,
    },
  }
}
