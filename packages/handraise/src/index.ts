export { apply, name, type PresetOptions } from './preset.ts'
