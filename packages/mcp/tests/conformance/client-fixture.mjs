// The official client, as the runner's client scenarios start it: `node client-fixture.mjs URL`.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const url = process.argv.at(-1)
const isModern = process.env.MCP_CONFORMANCE_SCENARIO === 'sep-2322-client-request-state'
const client = new Client(
  { name: 'conformance-client', version: '1' },
  {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    versionNegotiation: { mode: isModern ? { pin: '2026-07-28' } : 'legacy' },
  },
)
client.setRequestHandler('elicitation/create', () => ({
  action: 'accept',
  content: isModern ? { confirmed: true } : {},
}))
await client.connect(new StreamableHTTPClientTransport(new URL(url)))
if (isModern) {
  await Promise.all([
    client.callTool({ name: 'test_mrtr_echo_state', arguments: {} }),
    client.callTool({ name: 'test_mrtr_unrelated', arguments: {} }),
  ])
  await client.callTool({ name: 'test_mrtr_no_state', arguments: {} })
  await client.callTool({ name: 'test_mrtr_no_result_type', arguments: {} })
} else {
  await client.callTool({ name: 'test_client_elicitation_defaults', arguments: {} })
}
await client.close()
