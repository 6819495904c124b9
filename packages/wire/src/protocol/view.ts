import { z } from 'zod'
import { VIEW_PAGE_LIMIT } from './limits.ts'
import type { Shape } from './shape.ts'
import { sourceRangeSchema } from './source-range.ts'

export const viewSubscribeParamsSchema = z.looseObject({
  sessionId: z.string(),
  /** Not sent itself. */
  after: z.string().optional(),
})
export type ViewSubscribeParams = Shape<typeof viewSubscribeParamsSchema>

export const viewSubscribeResultSchema = z.looseObject({
  viewCursor: z.string(),
})
export type ViewSubscribeResult = Shape<typeof viewSubscribeResultSchema>

export const viewUnsubscribeParamsSchema = z.looseObject({
  sessionId: z.string(),
})
export type ViewUnsubscribeParams = Shape<typeof viewUnsubscribeParamsSchema>

export const viewUnsubscribeResultSchema = z.looseObject({})
export type ViewUnsubscribeResult = Shape<typeof viewUnsubscribeResultSchema>

/** What lies between the two cursors was not sent; `view/page` brings it. */
export const viewGapParamsSchema = z.looseObject({
  sessionId: z.string(),
  after: z.string(),
  next: z.string(),
})
export type ViewGapParams = Shape<typeof viewGapParamsSchema>

/** What all events of a view have; the rest is that of the method. */
export const unframedViewNotificationParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
})
export type UnframedViewNotificationParams = Shape<typeof unframedViewNotificationParamsSchema>

/** A notification as a page has it: without `jsonrpc` and the time. */
export const unframedViewNotificationSchema = z.looseObject({
  method: z.string(),
  params: unframedViewNotificationParamsSchema,
})
export type UnframedViewNotification = Shape<typeof unframedViewNotificationSchema>

/** Known words of an open set: others are to be tolerated. */
export const VIEW_PAGE_ANCHORS = ['latestCompaction'] as const

export const viewPageAnchorSchema = z.string()
export type ViewPageAnchor = Shape<typeof viewPageAnchorSchema>

/** Forward unless said. */
export const viewPageDirectionSchema = z.enum(['forward', 'backward'])
export type ViewPageDirection = Shape<typeof viewPageDirectionSchema>

export const viewPageParamsSchema = z.looseObject({
  sessionId: z.string(),
  limit: z.int().min(1).max(VIEW_PAGE_LIMIT),
  anchor: viewPageAnchorSchema.optional(),
  /** Not on the page itself; not together with `anchor`. */
  cursor: z.string().optional(),
  direction: viewPageDirectionSchema.optional(),
})
export type ViewPageParams = Shape<typeof viewPageParamsSchema>

export const viewPageResolvedAnchorSchema = z.looseObject({
  boundaryCursor: z.string(),
})
export type ViewPageResolvedAnchor = Shape<typeof viewPageResolvedAnchorSchema>

/** Ascending in both directions, without gaps, and perhaps fewer than asked for. */
export const viewPageResultSchema = z.looseObject({
  events: z.array(unframedViewNotificationSchema),
  /** Null at the end of the view, never omitted. */
  nextCursor: z.string().nullable(),
  resolvedAnchor: viewPageResolvedAnchorSchema.optional(),
})
export type ViewPageResult = Shape<typeof viewPageResultSchema>
