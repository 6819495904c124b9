/** Why an agent's call was not done: its turn has ended, or goes on elsewhere. */
export class TurnStopped extends Error {
  override readonly name = 'TurnStopped'
}
