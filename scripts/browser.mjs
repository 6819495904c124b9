// Makes sure there is a Chromium for the tests of the page, and a font for their Chinese pictures. The tests look for it
// where this does. A missing font is no failure: only pictures suffer.
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const FONT = 'fonts-wqy-zenhei'
// Any of these draws Chinese.
const CHINESE = /^(?:wqy|noto.*cjk|noto.*sc|source.?han|arphic|droid|unifont)/iu

/** The Chromium there is: the one that is named, or one on the path. */
export function findChromium(env = process.env) {
  const named = env.HANDRAISE_CHROMIUM
  if (named) return named
  const directories = (env.PATH ?? '').split(delimiter).filter(directory => directory !== '')
  return NAMES.flatMap(name => directories.map(directory => join(directory, name))).find(isExecutable)
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function hasChineseFont() {
  const folders = ['/usr/share/fonts', '/usr/local/share/fonts'].filter(folder => existsSync(folder))
  return folders.some(folder =>
    readdirSync(folder, { recursive: true }).some(file => CHINESE.test(String(file).split('/').at(-1))),
  )
}

function install(names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const run = args =>
    execFileSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env })
  run(['update'])
  run(['install', '-y', '--no-install-recommends', ...names])
}

function main() {
  const named = process.env.HANDRAISE_CHROMIUM
  if (named && !isExecutable(named)) fail(`HANDRAISE_CHROMIUM names ${named}, which cannot be run`)
  const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
  if (findChromium() === undefined) {
    if (!canInstall) {
      fail(
        'the tests of the page need a Chromium: install one as chromium, chromium-browser or google-chrome on the ' +
          'PATH (on Debian: apt-get install chromium), or name it in HANDRAISE_CHROMIUM',
      )
    }
    console.log('installing chromium, once, for the tests of the page')
    try {
      install(['chromium', ...(hasChineseFont() ? [] : [FONT])])
    } catch (error) {
      fail(`chromium could not be installed: ${error.message}; install one, or name it in HANDRAISE_CHROMIUM`)
    }
    if (findChromium() === undefined) fail('chromium was installed, and is not on the PATH all the same')
  } else if (canInstall && process.platform === 'linux' && !hasChineseFont()) {
    try {
      install([FONT])
    } catch (error) {
      console.warn(`no font for Chinese pictures: ${error.message}`)
    }
  }
}

function fail(why) {
  console.error(why)
  process.exit(1)
}

if (import.meta.filename === process.argv[1]) main()
