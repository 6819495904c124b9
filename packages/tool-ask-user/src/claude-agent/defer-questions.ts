import type { HookCallbackMatcher, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk'
import { withPatience } from '../patience.ts'
import type { Asker } from '../tool.ts'
import { questionAsker, type Asked, type QuestionOptions } from './ask-questions.ts'

/** What a hook is told of a call. */
export interface HookCall {
  readonly toolUseID: string
}

export interface DeferOptions extends QuestionOptions<HookCall> {
  /** How long a run waits for the answer before it ends to be resumed, in milliseconds. Enough to look up one that was given. */
  readonly patienceMs: number
}

/**
 * A `PreToolUse` hook that answers `AskUserQuestion`, and ends the run where no answer comes in time: the result names the
 * call as `deferred_tool_use`, the question stays open in the inbox, and the run goes on when its session is resumed, with
 * this hook again: `hooks: { PreToolUse: [deferQuestions(ctx.userQuestions, { patienceMs: 60_000 })] }`. It needs an inbox, and
 * `canUseTool` beside it, without which the CLI does not offer the tool; the CLI defers a call only when it is the only one
 * of its turn.
 */
export function deferQuestions(asker: Asker, { patienceMs, ...options }: DeferOptions): HookCallbackMatcher {
  const ask = questionAsker(asker, options)
  return {
    matcher: '^AskUserQuestion$',
    // In seconds, past which the CLI would go on without the hook.
    timeout: Math.ceil(patienceMs / 1000) + 60,
    hooks: [
      async (hook, toolUseID, { signal }) => {
        if (hook.hook_event_name !== 'PreToolUse' || toolUseID === undefined) return {}
        const asked = await withPatience(patienceMs, signal, whileWaiting => {
          const call = { callId: toolUseID, signal: whileWaiting, from: { toolUseID } }
          return ask(hook.tool_input, call)
        })
        return toOutput(asked)
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
