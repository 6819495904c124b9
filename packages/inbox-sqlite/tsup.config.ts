import { library } from '../../tsup.base.ts'

// Optional dependencies are not among those that tsup leaves outside by itself.
export default { ...library({ index: 'src/index.ts' }), external: ['better-sqlite3'] }
