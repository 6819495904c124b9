import { z } from 'zod'
import { effectiveApprovalModeStateSchema } from './approval-mode.ts'
import { itemSchema } from './item.ts'
import { pendingApprovalPointerSchema, pendingUserInputPointerSchema } from './pending.ts'
import type { Shape } from './shape.ts'

export const turnRefSchema = z.looseObject({
  commandId: z.string(),
  turnId: z.string(),
  displayText: z.string().optional(),
  truncated: z.boolean().optional(),
})
export type TurnRef = Shape<typeof turnRefSchema>

export const branchStateSchema = z.looseObject({
  branch: z.string().nullable(),
  workspaceRoot: z.string(),
  vcs: z.string().optional(),
})
export type BranchState = Shape<typeof branchStateSchema>

export const contextUsageSchema = z.looseObject({
  pressure: z.string(),
  usedTokens: z.int(),
  windowTokens: z.int().optional(),
})
export type ContextUsage = Shape<typeof contextUsageSchema>

export const cumulativeCostSchema = z.looseObject({
  partial: z.boolean(),
  usd: z.number(),
})
export type CumulativeCost = Shape<typeof cumulativeCostSchema>

export const cumulativeTokenUsageSchema = z.looseObject({
  outputTokens: z.int(),
  promptTokens: z.int(),
  totalTokens: z.int(),
  cacheReadTokens: z.int().optional(),
  cacheWriteTokens: z.int().optional(),
  cost: cumulativeCostSchema.optional(),
})
export type CumulativeTokenUsage = Shape<typeof cumulativeTokenUsageSchema>

/** Known words of an open set: others are to be tolerated. */
export const MODEL_CHANGE_SOURCES = ['user', 'default', 'policy'] as const

export const modelChangeSourceSchema = z.string()
export type ModelChangeSource = Shape<typeof modelChangeSourceSchema>

export const effectiveModelSchema = z.looseObject({
  modelId: z.string(),
  providerId: z.string().nullable(),
  source: modelChangeSourceSchema,
})
export type EffectiveModel = Shape<typeof effectiveModelSchema>

export const goalSchema = z.looseObject({
  objective: z.string(),
  percentComplete: z.int(),
  status: z.string(),
  currentWork: z.string().optional(),
  nextWork: z.string().optional(),
})
export type Goal = Shape<typeof goalSchema>

export const reasoningEffortStateSchema = z.looseObject({
  reasoningEffort: z.string(),
  source: z.string(),
})
export type ReasoningEffortState = Shape<typeof reasoningEffortStateSchema>

export const todoItemSchema = z.looseObject({
  status: z.string(),
  text: z.string(),
  activeForm: z.string().optional(),
})
export type TodoItem = Shape<typeof todoItemSchema>

export const todoListStateSchema = z.looseObject({
  items: z.array(todoItemSchema),
  revision: z.int(),
  sourceTool: z.string(),
})
export type TodoListState = Shape<typeof todoListStateSchema>

export const snapshotAnchorSchema = z.looseObject({
  boundaryCursor: z.string(),
  summarizedThrough: z.string(),
})
export type SnapshotAnchor = Shape<typeof snapshotAnchorSchema>

/** A session as it was at a cursor. What does not apply is null. */
export const snapshotStateSchema = z.looseObject({
  activeTurn: turnRefSchema.nullable(),
  approvalMode: effectiveApprovalModeStateSchema,
  branch: branchStateSchema.nullable(),
  effectiveModel: effectiveModelSchema.nullable(),
  goal: goalSchema.nullable(),
  items: z.array(itemSchema),
  pendingApprovals: z.array(pendingApprovalPointerSchema),
  pendingUserInputs: z.array(pendingUserInputPointerSchema),
  queuedTurns: z.array(turnRefSchema),
  todoList: todoListStateSchema.nullable(),
  tokenUsage: cumulativeTokenUsageSchema,
  turnCount: z.int(),
  contextUsage: contextUsageSchema.optional(),
  name: z.string().optional(),
  reasoningEffort: reasoningEffortStateSchema.optional(),
})
export type SnapshotState = Shape<typeof snapshotStateSchema>

export const viewSnapshotSchema = z.looseObject({
  viewCursor: z.string(),
  schemaVersion: z.int(),
  state: snapshotStateSchema,
  anchor: snapshotAnchorSchema.optional(),
})
export type ViewSnapshot = Shape<typeof viewSnapshotSchema>
