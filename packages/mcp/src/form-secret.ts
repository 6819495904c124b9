import { questionFields } from '@handraise/elicitation'
import type { Question } from '@handraise/user-questions/types'
import { asWords, SECRET, SECRET_WHEN_ASKED, SECRET_WHEN_HANDED_OVER, WHOSE } from './pause/secret-words.ts'

/** What stands after a secret that is meant itself; after `password` in `password policy` stands another word. */
const ENDS = String.raw`(?=$|[?!;,]| (?:for|of|to|from|on|in|at|with|by|and|or|here|below|under|into|now|please|so|again|using|via|it|then)\b)`
const HANDED_OVER = String.raw`(?<![a-z\d])(?:${SECRET}|${SECRET_WHEN_ASKED}|${SECRET_WHEN_HANDED_OVER})${ENDS}`
const WORDS_BETWEEN = String.raw`(?: [^\s?!;]+){0,5}?`

/** Typed by whoever is told to. */
const TYPE = String.raw`(?:paste|enter|type|input|fill in|submit|eingeben|saisir|introduce|введите|输入)`
/** Done with much else, too. */
const GIVE = String.raw`(?:give|provide|send|share|tell|supply|write|put|insert|show)`
/** Somebody else does it, or it is asked whether. */
const OTHERS = String.raw`(?<!\b(?:should|shall|do|does|did|must|may|will|would|could|can|to|i|we|it|they|users?|clients?|people|customers?|admins?|app|server|login) )(?<!\b(?:should|shall|does|must|may) \S+ )`

const MAY_BE_TOLD = String.raw`(?:${OTHERS}|(?<=\b(?:you|want to|need to) ))\b`
const SAYS_TYPE = new RegExp(String.raw`${MAY_BE_TOLD}${TYPE}${WORDS_BETWEEN} ${HANDED_OVER}`, 'u')
/** A map has keys as well; what is pasted is one of the other kind. */
const PASTES_KEY = new RegExp(
  String.raw`${MAY_BE_TOLD}paste${WORDS_BETWEEN} (?<!\b(?:primary|foreign|sort|partition|cache|translation|public) )keys?${ENDS}`,
  'u',
)
const SAYS_GIVE = new RegExp(
  String.raw`\b${GIVE}(?: [^\s?!;]+){0,2}? (?:me|us|your|my)${WORDS_BETWEEN} ${HANDED_OVER}`,
  'u',
)
const BEGINS_TO_GIVE = new RegExp(
  String.raw`(?:^|[?!;,] ?|\b(?:please|you) )${GIVE}${WORDS_BETWEEN} ${HANDED_OVER}`,
  'u',
)
const ASKS_WHAT = new RegExp(
  String.raw`\bwhat ?(?:is|s|are) (?:your|the|my|our)${WORDS_BETWEEN} ${HANDED_OVER}`,
  'u',
)
/** In languages where the verb comes last, and where words are not told apart by spaces. */
const ASKS_ELSEWHERE = new RegExp(
  String.raw`(?:passwort|kennwort)[^?!;]{0,80} (?:eingeben|nennen)|(?:输入|告诉)[^?!;]{0,20}(?:密码|口令)`,
  'u',
)
/** What the options of a choice do is done to others, unless it is said whose secret it is. */
const OPTION_SAYS = [SAYS_TYPE, PASTES_KEY, SAYS_GIVE]
const TEXT_SAYS = [...OPTION_SAYS, BEGINS_TO_GIVE, ASKS_WHAT, ASKS_ELSEWHERE]

const NOTHING_BUT = new RegExp(
  String.raw`^(?:(?:the|your|my|our|a|an|please) )*(?:${WHOSE} )*(?:${SECRET}|(?<=\b${WHOSE} )pass)(?: (?:please|here))?[ ?!は]*$`,
  'u',
)
const NAMED = new RegExp(
  String.raw`^(?!(?:where|how|when|why|who|should|shall|do|does|did|is|are|can|could|will|rotate|hash|delete|remove|reset|change|rename|name|store|keep|encrypt|add|use)\b)(?:[^\s?!;,]+ ){0,4}?(?:${SECRET}|(?<=\b${WHOSE} )pass)(?: (?:please|here|(?:for|of|to|from|on) [^?!;]*))?[ ?!は]*$`,
  'u',
)
const NAMED_BY_ONE_WORD = new RegExp(
  String.raw`^(?:(?:the|your|my|our|please|${WHOSE}) )*(?:${SECRET_WHEN_ASKED}|pass|jwt)[ ?!]*$`,
  'u',
)
const SAYS_WHERE = new RegExp(String.raw`\b${TYPE} (?:it|this|that|here|below)\b`, 'u')

/** True of questions by whose form somebody would type a secret (MCP 2025-06-18 and later, Elicitation: no form may ask for one). */
export function formAsksForSecret(questions: readonly Question[]): boolean {
  return questionFields(questions).some(
    ({ question, offered }) =>
      (offered.length === 0 ? textAsks(question) : choiceAsks(question)) || optionsAsk(question),
  )
}

/** Beside a choice stands a field for words: a secret is typed there when somebody is told to, and a choice about secrets asks for none. */
function choiceAsks({ question, header, detail }: Question): boolean {
  const asked = asWords(question)
  return (
    NOTHING_BUT.test(asked) ||
    (NOTHING_BUT.test(asWords(header ?? '')) && SAYS_WHERE.test(asked)) ||
    [asked, asWords(detail ?? '')].some(handsOver)
  )
}

function optionsAsk({ options = [] }: Question): boolean {
  const offered = options.flatMap(({ label, description }) => [label, description ?? ''])
  return offered.map(asWords).some(text => OPTION_SAYS.some(says => says.test(text)))
}

/** A text is a secret when it is asked for by a secret's name, wherever the name stands. */
function textAsks({ id, question, header, detail }: Question): boolean {
  const asked = asWords(question)
  const names = [id, header ?? ''].map(asWords)
  return (
    names.some(name => NAMED.test(name)) ||
    NAMED.test(asked) ||
    NAMED_BY_ONE_WORD.test(asked) ||
    // The question may say what is meant, such as which pin of a board.
    names.some(name => NAMED_BY_ONE_WORD.test(name) && !asked.includes(name)) ||
    [asked, asWords(detail ?? '')].some(handsOver)
  )
}

function handsOver(text: string): boolean {
  return TEXT_SAYS.some(says => says.test(text))
}
