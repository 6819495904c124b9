import { library } from '../../tsup.base.ts'

export default library({
  index: 'src/index.ts',
  'ai-sdk': 'src/ai-sdk/index.ts',
  'openai-agents': 'src/openai-agents/index.ts',
  langchain: 'src/langchain/index.ts',
  'claude-agent': 'src/claude-agent/index.ts',
  mastra: 'src/mastra/index.ts',
})
