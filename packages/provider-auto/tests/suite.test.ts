import { autoProvider } from '@handraise/provider-auto'
import { providerSuite, type Person } from '@handraise/user-questions/testing'
import { test } from 'vitest'

// The person writes the script: a function of it answers as they would.
function open(person: Person) {
  const acts = new Map<string, ReturnType<Person>>()
  const provider = autoProvider({
    script: [
      (question, request) => {
        const act = acts.get(request.id) ?? person(request)
        acts.set(request.id, act)
        if (act.act === 'nothing') return new Promise(() => {})
        return act.act === 'answer' ? act.answers.find(({ id }) => id === question.id) : undefined
      },
    ],
  })
  return { provider, close: () => {} }
}

const lacks = {
  dismiss: 'a script does not dismiss',
  partial: 'a script does not dismiss',
  decline: 'a script does not decline',
}

for (const { name, run } of providerSuite({ open, lacks })) test(name, run)
