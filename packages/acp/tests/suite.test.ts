import { questionFields } from '@handraise/elicitation'
import type { Answer, ProviderRequest, Question } from '@handraise/user-questions/types'
import { providerSuite, type Person, type ProviderHarness } from '@handraise/user-questions/testing'
import { describe, test } from 'vitest'
import { acpProvider, type AcpOptions } from '../src/index.ts'
import { connect, FORMS, type Editor } from './editor.ts'

type Act = ReturnType<Person>

interface Shown {
  readonly request: ProviderRequest
  readonly act: Act
}

/** An editor finds what it shows by the tool call that is named with it. */
function harnessOf(
  editorOf: (show: (toolCallId: unknown) => Shown) => Editor,
  given: Pick<AcpOptions, 'capabilities'>,
  lacks: ProviderHarness['lacks'],
): ProviderHarness {
  return {
    lacks,
    open(person) {
      const asked = new Map<unknown, ProviderRequest>()
      const editor = editorOf(toolCallId => {
        const request = asked.get(toolCallId)
        if (request === undefined) throw new Error('something is shown that nobody asked for')
        return { request, act: person(request) }
      })
      const { ours, theirs } = connect(editor)
      const provider = acpProvider(ours.client, {
        ...given,
        sessionId: 'session-1',
        // The person here is faster than any.
        autoAnswerMs: 0,
        toolCallId(request) {
          asked.set(request.id, request)
          return request.id
        },
      })
      return {
        provider,
        close() {
          theirs.close()
          ours.close()
        },
      }
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

describe('asking by forms of the editor keeps the contract of a provider', () => {
  const harness = harnessOf(
    show => ({
      form({ toolCallId }, signal) {
        const { request, act } = show(toolCallId)
        switch (act.act) {
          case 'answer':
            return { action: 'accept', content: fillIn(request.questions, act.answers) }
          case 'dismiss':
            return { action: 'cancel' }
          case 'decline':
            return { action: 'decline' }
          case 'nothing':
            return untilAborted(signal, { action: 'cancel' })
        }
      },
    }),
    { capabilities: FORMS },
    { partial: 'a form is sent as a whole' },
  )
  for (const { name, run } of providerSuite(harness)) test(name, run)
})

describe('asking by permissions of the editor keeps the contract of a provider', () => {
  const choice = 'a permission is one choice'
  const harness = harnessOf(
    show => {
      // The questions of a request come one after the other, and the person has made up their mind about all of them.
      let shown: Shown | undefined
      let next = 0
      return {
        permission({ options, toolCall }, signal) {
          if (shown === undefined) shown = show(toolCall.toolCallId)
          const { act, request } = shown
          const answers = act.act === 'answer' ? act.answers : act.act === 'dismiss' ? (act.after ?? []) : []
          const answer = answers[next]
          next += 1
          if (next === request.questions.length || answer === undefined) {
            shown = undefined
            next = 0
          }
          if (act.act === 'nothing') return untilAborted(signal, { outcome: { outcome: 'cancelled' } })
          if (answer === undefined) return { outcome: { outcome: 'cancelled' } }
          const [label = 'Skip this question'] = answer.selected
          const option = options.find(({ name }) => name === label || name.startsWith(`${label} — `))
          return { outcome: { outcome: 'selected', optionId: option?.optionId } }
        },
      }
    },
    {},
    {
      multiSelect: choice,
      freeText: choice,
      textBesideLabels: choice,
      skip: 'the case asks for words as well',
      partial: 'the case asks for a multi-select as well',
      decline: 'a question that may be skipped is not declined',
    },
  )
  for (const { name, run } of providerSuite(harness)) test(name, run)
})

function untilAborted<T>(signal: AbortSignal, value: T): Promise<T> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(value)))
}
