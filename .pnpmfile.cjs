// Mastra names a newer Node than the oldest that is supported here. It runs on that one too, as the tests of its adapter
// show, so that what it names keeps it and what it brings from being installed nowhere.
const NAMES_A_NEWER_NODE = /^@mastra\/|^@ai-sdk\//u

module.exports = {
  hooks: {
    readPackage(manifest) {
      if (NAMES_A_NEWER_NODE.test(manifest.name)) delete manifest.engines
      return manifest
    },
  },
}
