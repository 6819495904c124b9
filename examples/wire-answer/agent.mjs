// An agent with a script in place of a model, for `handraise wire --agent agent.mjs`.
import { z } from 'zod'

const parameters = z.object({
  questions: z.array(
    z.object({
      id: z.string(),
      header: z.string(),
      question: z.string(),
      options: z.array(z.object({ label: z.string(), description: z.string() })),
    }),
  ),
  /** How long to wait for an answer. Absent: until there is one. */
  timeoutMs: z.number().optional(),
})

export default ctx => {
  ctx.tools.register({
    name: 'request_user_input',
    description: 'Asks the user, and waits for the answer.',
    parameters,
    // The call's id is the question's key: a call that is made again finds its question, and its answer.
    execute: ({ questions, timeoutMs }, { callId, session, signal }) =>
      ctx.userQuestions.ask({ questions, timeoutMs, key: callId, session, signal }),
  })
  return {
    model: { modelId: 'scripted' },
    async run(turn) {
      const [{ text }] = turn.input
      const question = {
        id: 'db_choice',
        header: 'Database',
        question: 'Which database should the new service use?',
        options: [
          { label: 'Postgres', description: 'Matches the other services.' },
          { label: 'SQLite', description: 'Zero-ops, single node only.' },
        ],
      }
      const result = await turn.callTool({
        callId: `${turn.turnId}/db`,
        name: 'request_user_input',
        arguments: { questions: [question], ...(text.includes('if I am away') ? { timeoutMs: 1_500 } : {}) },
      })
      // A question that nobody answered is a result like any other: the turn moves on.
      const said = result.isError
        ? 'Nobody answered, so I took SQLite, which is easy to replace.'
        : `The new service uses ${result.value.answers[0].selected[0]}.`
      await turn.say(said, { id: 'said' })
    },
  }
}
