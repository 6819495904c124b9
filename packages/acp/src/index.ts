export type { AcpClient } from './client.ts'
export { apply, inject, name, type AcpConfig } from './plugin.ts'
export { acpProvider, type AcpOptions, type AcpProvider } from './provider.ts'
