export {
  AgentError,
  AgentRegistry,
  AgentRegistry as default,
  type Agent,
  type AgentErrorCode,
} from './registry.ts'
