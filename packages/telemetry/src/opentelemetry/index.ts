export { apply, name, type TelemetryOptions } from './plugin.ts'
