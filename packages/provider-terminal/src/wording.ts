/** Everything the person reads that is ours and not the asker's. */
export const WORDING = {
  // The second is for a question that offers an option called like the first.
  ownAnswer: ['Type your own answer', 'Write an answer of your own', 'Write something else'],
  ownAnswerBeside: (label: string) => `${label}: type your own answer`,
  recommended: 'recommended',
  approves: 'approves the plan',
  notYet: 'Keys count in a moment',
  ignoredEarly: 'What was typed before this was shown is ignored',
  timeLeft: (time: string) => `${time} left`,
  position: (number: number, total: number) => `${number}/${total}`,
  more: (from: number, to: number, total: number) => `lines ${from}-${to} of ${total}`,

  emptyText: 'Type something first, or Esc to go back',
  emptyOnlyText: 'Type an answer first, or Ctrl-S to skip',
  emptyReply: 'Type what you want to say first, or Esc to go back',
  moveFirst: 'Nothing is chosen yet: move to an option first',
  nothingTicked: 'Nothing is ticked: Space ticks, Enter again skips',
  notAnsweredYet: 'Choose or type an answer first, or skip',
  noPrevious: 'This is the first question',
  atLeast: (count: number) => `Choose at least ${count}`,
  atMost: (count: number) => `Choose at most ${count}`,
  cannotSkip: 'This one needs an answer and cannot be skipped',
  escapeDeclines: 'Esc again to decline to answer',
  // What was answered goes along with a dismissal; what is dropped is the rest.
  escapeDismisses: (answered: number, skipped: number, open: number) =>
    `Esc again to dismiss with ${[
      `${answered} answered`,
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
      ...(open > 0 ? [`${open} left unanswered`] : []),
    ].join(', ')}`,

  review: (answered: number, total: number) => `Your answers: ${answered} of ${total} answered`,
  send: 'Send the answers',
  skipped: 'skipped',
  noneChosen: 'none chosen',
  replyTitle: 'Write back instead of answering',
  replyTo: 'Asked was:',

  // What others made of a request that was shown here, by the outcome of its settlement.
  elsewhere: {
    answered: (surface: string) => `Answered elsewhere (${surface})`,
    declined: (surface: string) => `Declined elsewhere (${surface})`,
    cancelled: (surface: string) => `Dismissed elsewhere (${surface})`,
    clarified: (surface: string) => `Replied to elsewhere (${surface})`,
    interrupted: (surface: string) => `Stopped elsewhere (${surface})`,
  },

  controls: {
    move: ['↑↓', 'move'],
    choose: ['Enter', 'choose'],
    open: ['Enter', 'write'],
    openReview: ['Enter', 'change'],
    confirm: ['Enter', 'confirm'],
    goOn: ['Enter', 'go on'],
    send: ['Enter', 'send'],
    toggle: ['Space', 'tick'],
    skip: ['s', 'skip'],
    skipAnywhere: ['Ctrl-S', 'skip'],
    back: ['←', 'back'],
    backFromText: ['Shift-Tab', 'back'],
    forward: ['Tab', 'next'],
    page: ['PgUp/PgDn', 'scroll'],
    decline: ['Esc', 'decline'],
    dismiss: ['Esc', 'dismiss'],
    clear: ['Esc', 'clear'],
    toList: ['Esc', 'list'],
    return: ['Esc', 'return'],
    reply: ['Ctrl-T', 'write back'],
    stop: ['Ctrl-X', 'stop the turn'],
    cancel: ['Ctrl-C', 'dismiss'],
  },

  reasons: { dismissed: 'dismissed by the user', endOfInput: 'end of input' },

  why: {
    noInput: 'standard input is not a terminal',
    noOutput: 'standard output is not a terminal',
    ended: 'standard input has ended',
    ci: 'CI is set',
    background: 'this process runs in the background of its terminal',
  },
  advice: {
    terminal: 'run it in a terminal, or answer without a person: --answers FILE or --policy NAME',
    ci: 'unset CI to be asked in this terminal, or answer without a person: --answers FILE or --policy NAME',
    background:
      'bring it to the foreground (fg), or answer without a person: --answers FILE or --policy NAME',
  },

  plain: {
    question: (number: number, total: number, header: string | undefined) =>
      [
        total > 1 ? `Question ${number} of ${total}` : 'Question',
        ...(header === undefined ? [] : [header]),
      ].join(', ') + ':',
    option: (number: number, total: number, text: string) => `${number} of ${total}: ${text}`,
    selected: 'Selected',
    notSelected: 'Not selected',
    ownText: (text: string) => `Your text: ${text}`,
    chosen: (number: number, total: number, label: string) => `Selected ${number} of ${total}: ${label}`,
    howSingle: 'Type the number of an option, or your own answer. /help lists the commands.',
    howMulti: 'Type the numbers of options, such as 1,3, or your own answer. /help lists the commands.',
    howText: 'Type your answer. /help lists the commands.',
    prompt: 'Answer: ',
    help: [
      '/skip skips this question. /back goes to the question before.',
      '/text TEXT answers with the text, whatever it looks like.',
      '/add TEXT adds your own text to what you choose next, where several may be chosen.',
      '/reply TEXT writes back instead of answering. /stop stops the turn.',
      '/decline declines to answer. /dismiss leaves without deciding.',
    ],
    unknownCommand: (name: string) =>
      `There is no command /${name}. /help lists the commands; /text TEXT answers with text that starts with a slash.`,
    blank: 'Nothing was typed, so nothing is chosen.',
    blankReview: 'Nothing was typed, so nothing was sent.',
    noSuchOption: (numbers: string) =>
      `There is no option ${numbers}. /text ${numbers} sends it as your own text.`,
    ownNeedsText: 'Type your own answer as text.',
    needsText: (name: string) => `/${name} needs a text behind it.`,
    addOnlyMulti: '/add is for questions where several options may be chosen. Type your answer instead.',
    added: (text: string) => `Your text is added: ${text}. Now type the numbers of options.`,
    ignoredEarly: 'A line typed before the question was shown is ignored. Please type it again.',
    review: (answered: number, total: number) => `Your answers, ${answered} of ${total} answered:`,
    reviewLine: (number: number, text: string) => `${number}: ${text}`,
    howReview: 'Type send to send them, or the number of a question to change its answer.',
    reviewPrompt: 'Send? ',
    unreadReview: 'That is neither send nor the number of a question. Nothing was sent.',
    withdrawn: 'The question was withdrawn.',
    timeLeft: (time: string) => `Time left: ${time}.`,
  },
} as const

/** `90` seconds are `1:30`. */
export function clockTime(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / 1000))
  const two = (value: number): string => String(value).padStart(2, '0')
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`
}
