import { z } from 'zod'
import type { Shape } from './shape.ts'

/** Known words of an open set: others are to be tolerated. */
export const GRANTABLE_CAPABILITIES = ['userShell', 'sessionMcp', 'sessionListStream', 'feedback'] as const

/** Nothing that asks a person needs one of them. */
export const capabilityNameSchema = z.string()
export type CapabilityName = Shape<typeof capabilityNameSchema>

/** Who the client is, for logs and for the mode changes it makes. */
export const clientInfoSchema = z.looseObject({
  name: z.string().regex(/^[a-z0-9_]+$/),
  version: z.string(),
  title: z.string().optional(),
})
export type ClientInfo = Shape<typeof clientInfoSchema>

/** What stays so for the whole connection. */
export const clientCapabilitiesSchema = z.looseObject({
  experimentalApi: z.boolean().optional(),
  /** Has no effect on the protected methods. */
  optOutNotificationMethods: z.array(z.string()).optional(),
  /** What is not known is not granted, without an error. */
  requestedCapabilities: z.array(z.string()).optional(),
  /** False: `userInput/request` is withheld from this client. The event comes all the same. */
  userInputDialogs: z.boolean().optional(),
})
export type ClientCapabilities = Shape<typeof clientCapabilitiesSchema>

export const initializeParamsSchema = z.looseObject({
  clientInfo: clientInfoSchema,
  capabilities: clientCapabilitiesSchema.optional(),
})
export type InitializeParams = Shape<typeof initializeParamsSchema>

export const platformFamilySchema = z.enum(['unix', 'windows'])
export type PlatformFamily = Shape<typeof platformFamilySchema>

export const platformOsSchema = z.enum(['macos', 'linux', 'windows'])
export type PlatformOs = Shape<typeof platformOsSchema>

/** A fingerprint other than the expected one is a warning, never an error. */
export const schemaInfoSchema = z.looseObject({
  /** `sha256:` and 64 lower case hexadecimal digits. */
  fingerprint: z.string(),
  version: z.int(),
})
export type SchemaInfo = Shape<typeof schemaInfoSchema>

export const serverInfoSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
})
export type ServerInfo = Shape<typeof serverInfoSchema>

/** Known words of an open set: others are to be tolerated. */
export const SESSION_DURABILITIES = ['durable', 'ephemeral'] as const

/** A client reads an unknown word as ephemeral. */
export const sessionDurabilitySchema = z.string()
export type SessionDurability = Shape<typeof sessionDurabilitySchema>

/** Everything is there but `sessionDurability`, which a client reads as durable when it is missing. */
export const initializeResultSchema = z.looseObject({
  experimentalApi: z.boolean(),
  grantedCapabilities: z.array(capabilityNameSchema),
  museHome: z.string(),
  platformFamily: platformFamilySchema,
  platformOs: platformOsSchema,
  schema: schemaInfoSchema,
  serverInfo: serverInfoSchema,
  userAgent: z.string(),
  sessionDurability: sessionDurabilitySchema.optional(),
})
export type InitializeResult = Shape<typeof initializeResultSchema>
