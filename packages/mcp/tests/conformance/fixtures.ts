import {
  acceptedContent,
  answeredBy,
  inputRequired,
  type FormSchema,
  type InputRequest,
  type Pauses,
} from '@handraise/mcp'
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
const one = (name: string) => ({
  type: 'object' as const,
  properties: { [name]: { type: 'string' as const } },
  required: [name],
})
const name: InputRequest = { id: 'user_name', message: 'What is your name?', schema: one('name') }
const sampling = (id: string, words: string): InputRequest => ({
  id,
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens: 100 },
})
const roots: InputRequest = { id: 'client_roots', method: 'roots/list' }
const confirm: InputRequest = {
  id: 'confirm',
  message: 'Please confirm',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
}

/** What the runner's scenarios expect of a server, by names of theirs, out of what this package offers alone. */
export function fixtureServer(pauses: Pauses): McpServer {
  const server = new McpServer({ name: 'conformance', version: '1' })

  // One scenario answers it with the first call; nobody is harmed by a name that a caller gives itself.
  pauses.registerTool(
    server,
    'test_input_required_result_elicitation',
    { acceptUnasked: true },
    ({ inputResponses }) => {
      const content = acceptedContent<{ name: string }>(inputResponses, 'user_name')
      return content === undefined ? inputRequired({ requests: [name] }) : text(`Hello, ${content.name}!`)
    },
  )
  pauses.registerTool(server, 'test_input_required_result_sampling', {}, ({ inputResponses }) =>
    Object.hasOwn(inputResponses, 'capital_question')
      ? text(JSON.stringify(inputResponses['capital_question']))
      : inputRequired({ requests: [sampling('capital_question', 'What is the capital of France?')] }),
  )
  pauses.registerTool(server, 'test_input_required_result_list_roots', {}, ({ inputResponses }) =>
    Object.hasOwn(inputResponses, 'client_roots')
      ? text(JSON.stringify(inputResponses['client_roots']))
      : inputRequired({ requests: [roots] }),
  )
  pauses.registerTool(
    server,
    'test_input_required_result_request_state',
    {},
    ({ inputResponses, requestState }) =>
      acceptedContent(inputResponses, 'confirm') === undefined
        ? inputRequired({ requests: [confirm], requestState: { kept: 'state-ok' } })
        : text(JSON.stringify(requestState)),
  )
  pauses.registerTool(server, 'test_input_required_result_multiple_inputs', {}, ({ inputResponses }) =>
    Object.keys(inputResponses).length < 3
      ? inputRequired({ requests: [name, sampling('greeting', 'Generate a greeting'), roots] })
      : text(JSON.stringify(inputResponses)),
  )
  pauses.registerTool(server, 'test_input_required_result_multi_round', {}, ({ inputResponses }) => {
    const who = acceptedContent<{ name: string }>(inputResponses, 'step1')
    if (who === undefined)
      return inputRequired({ requests: [{ ...name, id: 'step1', message: 'Step 1: What is your name?' }] })
    const favourite = acceptedContent<{ color: string }>(inputResponses, 'step2')
    if (favourite === undefined) {
      const message = 'Step 2: What is your favorite color?'
      return inputRequired({ requests: [{ id: 'step2', message, schema: one('color') }] })
    }
    return text(`${who.name} likes ${favourite.color}`)
  })
  pauses.registerTool(server, 'test_input_required_result_tampered_state', {}, ({ inputResponses }) =>
    acceptedContent(inputResponses, 'confirm') === undefined
      ? inputRequired({ requests: [confirm] })
      : text('confirmed'),
  )
  pauses.registerTool(
    server,
    'test_input_required_result_capabilities',
    {},
    ({ inputResponses, clientCapabilities }) => {
      if (Object.keys(inputResponses).length > 0) return text('answered')
      const requests = [
        ...(clientCapabilities?.elicitation === undefined ? [] : [name]),
        ...(clientCapabilities?.sampling === undefined ? [] : [sampling('greeting', 'Generate a greeting')]),
      ]
      return inputRequired({ requests })
    },
  )
  pauses.registerPrompt(server, 'test_input_required_result_prompt', {}, ({ inputResponses }) => {
    const content = acceptedContent<{ context: string }>(inputResponses, 'user_context')
    if (content === undefined) {
      const message = 'What context should the prompt use?'
      return inputRequired({ requests: [{ id: 'user_context', message, schema: one('context') }] })
    }
    return { messages: [{ role: 'user', content: { type: 'text', text: content.context } }] }
  })
  pauses.registerTool(
    server,
    'test_elicitation',
    { inputSchema: z.object({ message: z.string() }) },
    ({ message }, { inputResponses }) => {
      const action = answeredBy(inputResponses, 'user')
      if (action !== undefined)
        return text(
          `User response: action: ${action}, content: ${JSON.stringify(acceptedContent(inputResponses, 'user'))}`,
        )
      const schema = z.object({
        username: z.string().describe("User's response"),
        email: z.string().describe("User's email address"),
      })
      return inputRequired({ requests: [{ id: 'user', message, schema }] })
    },
  )
  registerForm(pauses, server, 'test_elicitation_sep1034_defaults', {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  })
  const labels = ['option1', 'option2', 'option3']
  const titled = (word: string) =>
    ['First', 'Second', 'Third'].map((nth, index) => ({
      const: `value${index + 1}`,
      title: `${nth} ${word}`,
    }))
  registerForm(pauses, server, 'test_elicitation_sep1330_enums', {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: labels },
      titledSingle: { type: 'string', oneOf: titled('Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: labels } },
      titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
    },
  })
  return server
}

function registerForm(pauses: Pauses, server: McpServer, tool: string, schema: FormSchema): void {
  pauses.registerTool(server, tool, {}, ({ inputResponses }) => {
    const action = answeredBy(inputResponses, 'form')
    if (action === undefined)
      return inputRequired({ requests: [{ id: 'form', message: 'Please fill in', schema }] })
    const content = JSON.stringify(acceptedContent(inputResponses, 'form'))
    return text(`Elicitation completed: action=${action}, content=${content}`)
  })
}
