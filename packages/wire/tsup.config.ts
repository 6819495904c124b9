import { library } from '../../tsup.base.ts'

export default library({
  index: 'src/index.ts',
  client: 'src/client-entry.ts',
  protocol: 'src/protocol/index.ts',
})
