import { issuesOfZod } from '@handraise/user-questions/types'
import type { z } from 'zod'
import { WireError } from '../protocol/index.ts'

/** Parameters that are not of their shape: every fault by its path. */
export function invalidParams(error: z.ZodError): WireError {
  const issues = issuesOfZod(error)
  const message = issues.map(({ path, message: fault }) => `${path}: ${fault}`).join('; ')
  return new WireError('invalidParams', message, { details: { issues: issues.map(issue => ({ ...issue })) } })
}
