import {
  agent,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type AgentApp,
  type AgentConnection,
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  type RequestPermissionRequest,
  type Stream,
} from '@agentclientprotocol/sdk'
import type { Form } from '@handraise/elicitation'
import { onTestFinished } from 'vitest'

export type ShownForm = Form & CreateElicitationRequest & { readonly toolCallId?: string }

/** What the editor does with what it is sent; `signal` aborts when the agent takes it down. Absent: it has no handler. */
export interface Editor {
  readonly form?: ((form: ShownForm, signal: AbortSignal) => unknown) | undefined
  readonly permission?: ((request: RequestPermissionRequest, signal: AbortSignal) => unknown) | undefined
}

export interface Connected {
  readonly ours: AgentConnection
  readonly theirs: ClientConnection
}

/** Editor and agent, each an app of the official SDK, with lines of JSON between them. */
export function connect(editor: Editor, app: AgentApp = agent({ name: 'agent' })): Connected {
  const [toAgent, toEditor] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()]
  const streamOf = (out: WritableStream<Uint8Array>, from: ReadableStream<Uint8Array>): Stream =>
    ndJsonStream(out, from)
  const window = client({ name: 'editor' })
  const { form, permission } = editor
  if (form !== undefined) {
    window.onRequest(
      methods.client.elicitation.create,
      ({ params, signal }) => form(params as never, signal) as never,
    )
  }
  if (permission !== undefined) {
    window.onRequest(
      methods.client.session.requestPermission,
      ({ params, signal }) => permission(params, signal) as never,
    )
  }
  const ours = app.connect(streamOf(toEditor.writable, toAgent.readable))
  const theirs = window.connect(streamOf(toAgent.writable, toEditor.readable))
  return { ours, theirs }
}

/** The same, closed when the test is over. */
export function connected(editor: Editor, app?: AgentApp): Connected {
  const both = connect(editor, app)
  onTestFinished(() => {
    both.theirs.close()
    both.ours.close()
  })
  return both
}

export const FORMS: Pick<ClientCapabilities, 'elicitation'> = { elicitation: { form: {} } }

export const initialize = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: FORMS }
