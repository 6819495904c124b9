/**
 * Reads what models send instead of what they were told to send, where there is one sure reading: JSON in a string, one
 * object instead of an array, `null` for an absent field, other spellings of `multi_select`, options as plain strings,
 * missing ids. What has no sure reading stays as it came, for the schema to refuse. Texts are never changed.
 */
export function repairArguments(raw: unknown): unknown {
  const parsed = parseJson(raw)
  if (Array.isArray(parsed)) return { questions: repairQuestions(parsed) }
  if (!isRecord(parsed)) return parsed
  if (!('questions' in parsed) && 'question' in parsed) return { questions: repairQuestions(parsed) }
  return { ...parsed, questions: repairQuestions(parsed.questions) }
}

function repairQuestions(raw: unknown): unknown {
  const parsed = parseJson(raw)
  const questions = isRecord(parsed) ? [parsed] : parsed
  if (!Array.isArray(questions)) return questions
  return nameUnnamed(questions.map(repairQuestion))
}

function repairQuestion(raw: unknown): unknown {
  const parsed = parseJson(raw)
  if (typeof parsed === 'string') return { question: parsed }
  if (!isRecord(parsed)) return parsed
  const { multi_select, multiSelect, multiple, options, id, ...question } = withoutNulls(parsed)
  const multi = repairBoolean(multi_select ?? multiSelect ?? multiple)
  const offered = repairOptions(options)
  return {
    ...(id === undefined ? {} : { id: typeof id === 'number' ? String(id) : id }),
    ...question,
    ...(offered === undefined ? {} : { options: offered }),
    ...(multi === undefined ? {} : { multi_select: multi }),
  }
}

function repairOptions(raw: unknown): unknown {
  const parsed = parseJson(raw)
  const options = isRecord(parsed) ? [parsed] : parsed
  if (!Array.isArray(options)) return options
  return options.map((option: unknown) => {
    if (typeof option === 'string') return { label: option }
    return isRecord(option) ? withoutNulls(option) : option
  })
}

function repairBoolean(value: unknown): unknown {
  if (value === 'true') return true
  return value === 'false' ? false : value
}

// `q1`, `q2`, …, past the ids that are taken.
function nameUnnamed(questions: unknown[]): unknown[] {
  const taken = new Set(questions.map(question => (isRecord(question) ? question.id : undefined)))
  return questions.map((question, index) => {
    if (!isRecord(question)) return question
    if (question.id !== undefined && question.id !== '') return question
    let number = index + 1
    while (taken.has(`q${number}`)) number += 1
    taken.add(`q${number}`)
    return { ...question, id: `q${number}` }
  })
}

// Only what was meant as a list or an object: a text that happens to be a number or `null` stays a text.
function parseJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/u.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

function withoutNulls(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
