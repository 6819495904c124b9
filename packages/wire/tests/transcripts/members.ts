/**
 * How a member of a host's frame is held against the same member of a transcript.
 *
 * - `exact`: the same value. Ids within a text are put into the transcript's first.
 * - `learned`: an id that a client hears from the host. One of the host always stands for the same one of the transcript.
 * - `time`: any instant, written as RFC 3339.
 * - `free`: any value of the same type.
 */
export type Rule = 'exact' | 'learned' | 'time' | 'free'

/**
 * The rule of every member that is not `exact`, by its name, or by `<member it is in>.<name>` where the name alone says too
 * little. What a list holds goes by the name of the list.
 */
export const MEMBERS: Readonly<Record<string, Exclude<Rule, 'exact'>>> = {
  sessionId: 'learned',
  turnId: 'learned',
  activeTurnId: 'learned',
  itemId: 'learned',
  userInputId: 'learned',
  approvalId: 'learned',
  taskId: 'learned',
  // Chosen by whoever runs the agent, and its place in the session for what was asked by another way.
  toolCallId: 'learned',
  callId: 'learned',
  childSessionId: 'learned',

  viewCursor: 'learned',
  nextCursor: 'learned',
  earliestCursor: 'learned',
  // Of `view/gap`, and of a client's requests.
  after: 'learned',
  next: 'learned',
  cursor: 'learned',

  // Where an event comes from is opaque: only that the same place has the same id is held.
  'first.id': 'learned',
  'last.id': 'learned',
  'stream.id': 'free',
  'stream.kind': 'free',
  sequence: 'free',

  recordedAt: 'time',
  createdAt: 'time',
  updatedAt: 'time',
  decidedAt: 'time',
  emittedAtMs: 'free',
  durationMs: 'free',

  // What a host says of itself.
  'serverInfo.name': 'free',
  'serverInfo.version': 'free',
  userAgent: 'free',
  museHome: 'free',
  platformFamily: 'free',
  platformOs: 'free',
  'schema.fingerprint': 'free',
  'session.path': 'free',

  // In the host's own words.
  rulePreview: 'free',
}

/** The rule of a member, by its path without the places in lists. */
export function ruleOf(path: readonly string[]): Rule {
  const [name = '', within = ''] = path.toReversed()
  return MEMBERS[`${within}.${name}`] ?? MEMBERS[name] ?? 'exact'
}
