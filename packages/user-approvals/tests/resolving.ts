import {
  matchRule,
  requirementsOf,
  resolveSubject,
  type ApprovalRule,
  type ApprovalSubject,
  type ResolvedSubject,
  type ResolveOptions,
  type RuleVerdict,
  type ShellRule,
} from '@handraise/user-approvals'

/** The one requirement of a subject, or the one at an index. */
export async function requirement(
  subject: ApprovalSubject,
  { at = 0, ...options }: ResolveOptions & { readonly at?: number } = {},
): Promise<ResolvedSubject> {
  const found = requirementsOf(await resolveSubject(subject, options))[at]
  if (found === undefined) throw new RangeError(`the subject has no requirement ${at}`)
  return found.subject
}

export function shellRule(match: Partial<ShellRule> & Pick<ShellRule, 'argv'>): ApprovalRule {
  return { version: 1, toolName: 'Bash', match: { kind: 'shell', rest: 'none', ...match } }
}

/** Whether a rule answers for all requirements of a subject, and if not, why for the first it does not. */
export async function verdictOnAll(
  rule: ApprovalRule,
  toolName: string,
  subject: ApprovalSubject,
  options: ResolveOptions = {},
): Promise<RuleVerdict> {
  const requirements = requirementsOf(await resolveSubject(subject, options))
  const verdicts = requirements.map(each => matchRule(rule, toolName, each.subject))
  return verdicts.find(({ matches }) => !matches) ?? verdicts[0] ?? { matches: false, why: 'no requirement' }
}
