import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { UserQuestionError, visibleLine, visibleText } from '@handraise/user-questions/types'

const run = promisify(execFile)

/** Asks in notifications, a button for each option. GNOME shows 3 buttons, and leaves out what is more. */
export function desktopProvider({ mostOptions = 3 } = {}) {
  function fits({ options = [], multiSelect, detail }) {
    return options.length > 0 && options.length <= mostOptions && !multiSelect && detail === undefined
  }

  return {
    name: 'desktop',
    async ask({ id, questions, signal }) {
      signal.throwIfAborted()
      if (!questions.every(fits)) {
        const advice = `A notification asks for one of at most ${mostOptions} options, without more to read.`
        throw new UserQuestionError('ASK_UNAVAILABLE', { reason: 'unsupported-question', advice })
      }
      const answers = []
      for (const question of questions) {
        const label = await choose(id, question, signal)
        if (label === undefined) throw new UserQuestionError('ASK_CANCELLED', { answers })
        answers.push({ id: question.id, selected: [label] })
      }
      return { answers }
    },
  }
}

/** The label that was chosen; nothing when the notification was closed. */
async function choose(ask, { id, header = 'Question', question, options }, signal) {
  const names = options.map((_, index) => [ask, id, index].map(encodeURIComponent).join('/'))
  const actions = options.map(({ label }, index) => `--action=${names[index]}=${visibleLine(label)}`)
  const described = options.filter(({ description }) => description)
  const lines = [question, ...described.map(({ label, description }) => `${label}: ${description}`)]
  // A body may have mark-up, and notify-send reads backslashes in it.
  const body = visibleText(lines.join('\n')).replace(/[&<>\\]/g, character => `&#${character.charCodeAt(0)};`)
  const args = [...actions, '--urgency=critical', '--expire-time=0', '--', visibleLine(header), body]
  try {
    // Of the signals, this is the one at which notify-send closes its notification before it ends.
    const { stdout } = await run('notify-send', args, { signal, killSignal: 'SIGINT' })
    return options[names.indexOf(stdout.trim())]?.label
  } catch (cause) {
    signal.throwIfAborted()
    const advice = 'It takes notify-send of libnotify 0.8, and a desktop whose notifications have buttons.'
    throw new UserQuestionError('ASK_UNAVAILABLE', { reason: 'undeliverable', advice }, { cause })
  }
}
