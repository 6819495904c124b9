import { questionFields } from '@handraise/elicitation'
import type { Answer, ProviderRequest, Question } from '@handraise/user-questions/types'
import { providerSuite, type ProviderHarness } from '@handraise/user-questions/testing'
import { describe, test } from 'vitest'
import { mcpElicitationProvider } from '../src/provider.ts'
import { clientV1, clientV2, serverOf, type Screen } from './provider-clients.ts'

const lacks = { partial: 'a form is sent as a whole' }

function harnessOf(clientOf: (screen: Screen) => Parameters<typeof serverOf>[0]): ProviderHarness {
  return {
    lacks,
    async open(person) {
      let shown: ProviderRequest | undefined
      const client = clientOf((_, signal) => {
        if (shown === undefined) throw new Error('a form came that nobody asked for')
        const act = person(shown)
        switch (act.act) {
          case 'answer':
            return { action: 'accept', content: fillIn(shown.questions, act.answers) }
          case 'dismiss':
            return { action: 'cancel' }
          case 'decline':
            return { action: 'decline' }
          case 'nothing':
            return new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('taken down')))
            })
        }
      })
      const server = await serverOf(client)
      const provider = mcpElicitationProvider(server, {
        // The person here is faster than any.
        autoDeclineMs: 0,
        // Called as a form goes out: the one place that knows which request it belongs to.
        relatedRequestId(request) {
          shown = request
          return undefined
        },
      })
      return { provider, close: () => server.close() }
    },
  }
}

function fillIn(questions: readonly Question[], answers: readonly Answer[]): Record<string, unknown> {
  const content: Record<string, unknown> = {}
  for (const { question, name, otherName = name } of questionFields(questions)) {
    const { selected = [], custom } = answers.find(({ id }) => id === question.id) ?? {}
    if (selected.length > 0) content[name] = question.multiSelect === true ? [...selected] : selected[0]
    if (custom !== undefined) content[otherName] = custom
  }
  return content
}

describe('asking through an MCP client keeps the contract of a provider', () => {
  for (const { name, run } of providerSuite(harnessOf(clientV2))) test(name, run)
})

describe('asking through an MCP client of the first SDK keeps the contract of a provider', () => {
  for (const { name, run } of providerSuite(harnessOf(clientV1))) test(name, run)
})
