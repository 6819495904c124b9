/** One choice of a field. `const` comes back, `title` is what the person reads. */
export interface FormOption {
  const: string
  title: string
  /** ACP only: MCP has no place for it, and its clients drop it. */
  description?: string
}

/** One of several labels. */
export interface ChoiceField {
  type: 'string'
  title: string
  description?: string
  oneOf: FormOption[]
  default?: string
}

/** Any number of labels. */
export interface ChoicesField {
  type: 'array'
  title: string
  description?: string
  items: { anyOf: FormOption[] }
  minItems?: number
  maxItems?: number
  default?: string[]
}

export interface TextField {
  type: 'string'
  title: string
  description?: string
  minLength?: number
  default?: string
}

export type FormField = ChoiceField | ChoicesField | TextField

/** What `elicitation/create` asks for in mode `form`, in MCP (2025-06-18 and later) and in ACP (protocol 1). */
export interface Form {
  message: string
  requestedSchema: {
    type: 'object'
    /** In the order of the questions. */
    properties: Record<string, FormField>
    required?: string[]
  }
}
