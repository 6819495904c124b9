// An agent with a script in place of a model, for `handraise wire --agent agent.mjs`: it writes the files that it is told to.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

export default ctx => {
  ctx.tools.register({
    name: 'write_file',
    description: 'Writes a file.',
    parameters: z.object({ path: z.string(), text: z.string() }),
    // What a call would do. Whether it may is asked before it runs.
    permission: ({ path }) => ({ subject: { kind: 'fileAccess', access: 'write', path } }),
    async execute({ path, text }) {
      await writeFile(path, text)
      return `wrote ${path}`
    },
  })
  return {
    model: { modelId: 'scripted' },
    async run(turn) {
      const said = []
      for (const [index, name] of turn.input[0].text.split(' ').entries()) {
        const result = await turn.callTool({
          callId: `${turn.turnId}/${index}`,
          name: 'write_file',
          arguments: { path: join(turn.workspaceRoot, name), text: 'written by an agent\n' },
        })
        if (result.isError) throw new Error(result.error.message)
        // A denial is an answer, with the person's words. Nothing was done, and nothing failed.
        const { notDone, outcome } = result.value
        said.push(notDone ? `I did not write ${name}: ${outcome.feedback}.` : `I wrote ${name}.`)
      }
      await turn.say(said.join(' '), { id: 'said' })
    },
  }
}
