export { matchRule, type RuleVerdict } from './match-rule.ts'
export { ruleFor, type RuleBreadth } from './rule-for.ts'
export { previewOf } from './rule-preview.ts'
export {
  ruleSchema,
  type ApprovalRule,
  type FileRule,
  type NetworkRule,
  type ShellRule,
  type ToolRule,
} from './rule-schema.ts'
