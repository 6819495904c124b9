/** What spans, metrics and attributes are called. */
export const SCOPE = '@handraise/telemetry'

export const SPAN = {
  ask: 'handraise.ask',
  wait: 'handraise.wait',
  settle: 'handraise.settle',
} as const

export const METRIC = {
  asked: 'handraise.ask.asked',
  settled: 'handraise.ask.settled',
  duration: 'handraise.ask.duration',
  requestOpened: 'handraise.request.opened',
  requestSettled: 'handraise.request.settled',
  requestDuration: 'handraise.request.duration',
  pending: 'handraise.request.pending',
  oldestAge: 'handraise.request.oldest.age',
} as const

export const ATTRIBUTE = {
  id: 'handraise.request.id',
  kind: 'handraise.kind',
  outcome: 'handraise.outcome',
  by: 'handraise.by',
  surface: 'handraise.surface',
  provider: 'handraise.provider',
  questionCount: 'handraise.question.count',
  hasKey: 'handraise.key.present',
  session: 'handraise.session.id',
  agent: 'handraise.agent.id',
  tool: 'handraise.tool.name',
  joined: 'handraise.joined',
  /** The one name here that the conventions of OpenTelemetry already have. */
  error: 'error.type',
} as const
