// An agent with a script in place of a model, for `handraise serve --agent agent.mjs`.
export default {
  model: { modelId: 'scripted' },
  async run(turn) {
    const options = [{ label: 'Friday' }, { label: 'Monday' }]
    const result = await turn.callTool({
      callId: `${turn.turnId}/when`,
      name: 'ask_user_question',
      arguments: { questions: [{ id: 'when', question: 'When shall I release?', options }] },
    })
    if (result.isError) throw new Error(result.error.message)
    await turn.say(`I release on ${result.value.answers[0].selected[0]}.`, { id: 'said' })
  },
}
