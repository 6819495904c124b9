import {
  checkValue,
  UserQuestionError,
  type Answer,
  type AskUserQuestionAnswer,
  type ProviderRequest,
  type Question,
  type UserQuestionProvider,
} from '@handraise/user-questions/types'
import { answerByPolicy, AUTO_POLICIES, type AutoPolicy } from './policy.ts'
import {
  matches,
  matchesApproval,
  parseAnswer,
  readRuleAnswer,
  toRules,
  withBy,
  type AnswerRule,
  type RuleAnswer,
  type Script,
  type ScriptRule,
} from './rule.ts'

export interface AutoOptions {
  /** Default: no rules. */
  readonly script?: Script | undefined
  /** For what no rule covers. Default `refuse`. */
  readonly policy?: AutoPolicy | undefined
}

/** One question that was asked, and what became of it. */
export interface TranscriptEntry {
  /** The id of the request. */
  readonly request: string
  readonly question: Question
  /** Absent when the question was refused. */
  readonly answer?: Answer | undefined
  /** What answered: the rule itself, or the name of the policy. */
  readonly by?: ScriptRule | AutoPolicy | undefined
  /** Why it was refused. */
  readonly refused?: string | undefined
}

export interface AutoProvider extends UserQuestionProvider {
  readonly name: 'auto'
  /** Every question asked so far, in the order in which it was answered or refused. */
  readonly transcript: readonly TranscriptEntry[]
  /** The scripted answers that no question has asked for yet; functions are not counted. */
  unused(): AnswerRule[]
}

/**
 * Answers questions without a person: by the first rule of the script that covers a question, else by the policy, else
 * not at all: the request ends `ASK_UNAVAILABLE`, reason `no-rule`, or `rule-not-offered` when a rule's answer is not
 * among what the question offers. Every answer is marked `by: 'policy'`.
 */
export function autoProvider({ script = [], policy = 'refuse' }: AutoOptions = {}): AutoProvider {
  if (!AUTO_POLICIES.includes(policy)) {
    throw new TypeError(`policy: expected one of ${AUTO_POLICIES.join(', ')}, got ${JSON.stringify(policy)}`)
  }
  const rules = toRules(script)
  const used = new Set<ScriptRule>()
  const transcript: TranscriptEntry[] = []

  async function answer(question: Question, request: ProviderRequest): Promise<Answer> {
    const entry = { request: request.id, question }
    const refuse = (reason: 'no-rule' | 'rule-not-offered', refused: string): never => {
      transcript.push({ ...entry, refused })
      throw new UserQuestionError('ASK_UNAVAILABLE', { reason, advice: refused })
    }
    for (const rule of rules) {
      const given = await ask(rule, question, request, refused =>
        transcript.push({ ...entry, by: rule, refused }),
      )
      if (given === undefined) continue
      request.signal.throwIfAborted()
      used.add(rule)
      const read = readRuleAnswer(question, given)
      if ('fault' in read) return refuse('rule-not-offered', `the rule's answer does not fit: ${read.fault}`)
      const answered = withBy(question.id, read.value)
      transcript.push({ ...entry, answer: answered, by: rule })
      return answered
    }
    if (request.kind !== undefined) {
      const advice = `a policy answers no ${request.kind}; only a rule that names its tool and subject does`
      return refuse('no-rule', advice)
    }
    const value = answerByPolicy(policy, question)
    if (value === undefined || checkValue(question, value, '').length > 0) {
      const advice = `no rule and no policy (${policy}) answers question ${JSON.stringify(question.id)}; add a rule for it`
      return refuse('no-rule', advice)
    }
    const answered = withBy(question.id, value)
    transcript.push({ ...entry, answer: answered, by: policy })
    return answered
  }

  async function askAll(request: ProviderRequest): Promise<AskUserQuestionAnswer> {
    request.signal.throwIfAborted()
    const answers: Answer[] = []
    for (const question of request.questions) answers.push(await answer(question, request))
    return { answers }
  }

  return {
    name: 'auto',
    answersKinds: ['approval'],
    transcript,
    unused: () => rules.filter((rule): rule is AnswerRule => typeof rule !== 'function' && !used.has(rule)),
    ask: request => untilAborted(request.signal, () => askAll(request)),
  }
}

async function ask(
  rule: ScriptRule,
  question: Question,
  request: ProviderRequest,
  onFault: (fault: string) => void,
): Promise<RuleAnswer | undefined> {
  // A kind this provider does not know is a permission of some sort: nothing covers it by chance.
  if (request.kind !== undefined) {
    const named =
      request.kind === 'approval' &&
      typeof rule !== 'function' &&
      matchesApproval(rule.match, request.payload)
    return named ? rule.answer : undefined
  }
  if (typeof rule !== 'function') return matches(rule.match, question) ? rule.answer : undefined
  try {
    const returned: unknown = await rule(question, request)
    if (returned === undefined) return undefined
    const given = parseAnswer(returned)
    if (given !== undefined) return given
    throw new TypeError(`the script's function returned no answer to question ${JSON.stringify(question.id)}`)
  } catch (error) {
    onFault(error instanceof Error ? error.message : String(error))
    throw error
  }
}

// A function of the script may never return.
async function untilAborted<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([run(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
