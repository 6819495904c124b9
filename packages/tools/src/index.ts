export { parseArguments } from './parse-arguments.ts'
export { runTool, ToolError, type ToolErrorCode } from './run-tool.ts'
export { ToolService, ToolService as default, type ToolInvocation } from './service.ts'
export {
  defineTool,
  toToolSchema,
  type ParsedArguments,
  type ToolCall,
  type ToolDefinition,
  type ToolFailure,
  type ToolGuard,
  type ToolResult,
  type ToolSchema,
} from './tool.ts'
