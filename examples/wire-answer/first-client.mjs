// Starts a turn, is asked a question, says so, and waits. Killed by main.mjs.
import { open } from './open.mjs'

const [, , db, sessionId] = process.argv
const { client, shown } = await open(db)
await client.command('session/start', { sessionId })
const input = [{ type: 'text', text: 'Set up the new service.' }]
await client.command('turn/start', { sessionId, input })
console.log((await shown).userInputId)
