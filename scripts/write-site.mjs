// Writes the site of the documentation to site/: the README, the pages of docs/, the README of each package, and what each
// entry of a package exports. All entries are of one program, so that links lead from one package to another. Any warning
// fails, and so does any link in the site that leads nowhere.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  Application,
  Converter,
  DocumentReflection,
  KindRouter,
  MinimalSourceFile,
  normalizePath,
  TSConfigReader,
  TypeDocReader,
} from 'typedoc'
import { deadLinks } from './site-links.mjs'

const SOURCE = '@handraise/source'
// What a reader needs first comes first. What is not here comes after these.
const ORDER = [
  'start',
  'concepts',
  'coming-from',
  'write-a-provider',
  'test-headless',
  'test-your-own',
  'adapters',
  'threads',
  'run-durable',
  'many-hosts',
  'protocol',
  'security',
  'stable',
]

/** What can be imported, and the file it comes from. */
const specifierOf = new Map()
/** The packages' READMEs, and what they are the front page of. */
const readmes = new Map()
for (const name of readdirSync('packages')) {
  const manifest = JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8'))
  // That each has one is for check-packages.mjs to say.
  const readme = join('packages', name, 'README.md')
  if (existsSync(readme)) readmes.set(readme, manifest.name)
  for (const [path, target] of Object.entries(manifest.exports)) {
    if (target[SOURCE] === undefined) continue
    specifierOf.set(resolve('packages', name, target[SOURCE]), manifest.name + path.slice(1))
  }
}

/** A page is found under the name of its file, whatever its title. */
class PageRouter extends KindRouter {
  getIdealBaseName(reflection) {
    const path = reflection.isDocument() ? reflection.project.files.getReflectionPath(reflection) : undefined
    return path === undefined ? super.getIdealBaseName(reflection) : `docs/${basename(path, '.md')}`
  }
}

const app = await Application.bootstrap({ entryPoints: [...specifierOf.keys()] }, [
  new TypeDocReader(),
  new TSConfigReader(),
])
app.renderer.defineRouter('pages', PageRouter)
app.options.setValue('router', 'pages')

const entryPoints = app.getEntryPoints() ?? []
for (const entry of entryPoints) entry.displayName = specifierOf.get(entry.sourceFile.fileName)
// A parameter that is taken apart at once has no name of its own.
app.converter.on(Converter.EVENT_CREATE_PARAMETER, (_, parameter) => {
  if (parameter.name === '__namedParameters') parameter.name = 'options'
})
app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => addPages(project))
const site = app.converter.convert(entryPoints)
app.validate(site)
const out = app.options.getValue('out')
rmSync(out, { recursive: true, force: true })
await app.generateDocs(site, out)

const dead = deadLinks(out)
for (const link of dead) console.error(link)
if (dead.length > 0 || app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1)

function addPages(project) {
  project.readme = contentOf(project, 'README.md')
  project.files.registerReflectionPath(normalizePath(resolve('README.md')), project)
  const place = page => (ORDER.includes(page) ? ORDER.indexOf(page) : ORDER.length)
  const pages = readdirSync('docs').filter(name => name.endsWith('.md'))
  const inOrder = pages.map(name => basename(name, '.md')).toSorted((a, b) => place(a) - place(b))
  for (const page of inOrder) {
    const file = join('docs', `${page}.md`)
    const [, title] = /^# (.+)$/mu.exec(readFileSync(file, 'utf8'))
    const document = new DocumentReflection(title, project, contentOf(project, file), {})
    project.addChild(document)
    project.registerReflection(document, undefined, normalizePath(resolve(file)))
  }
  // Whoever reads begins with the pages.
  project.childrenIncludingDocuments = [...project.documents, ...project.children]
  for (const [file, specifier] of readmes) {
    const module = project.getChildByName([specifier])
    // Its title is that of the page already.
    module.readme = contentOf(project, file, markdown => markdown.replace(/^# .+\n/u, ''))
    project.files.registerReflectionPath(normalizePath(resolve(file)), module)
  }
}

function contentOf(project, file, edit = markdown => markdown) {
  const text = edit(withoutDirectoryLinks(file, readFileSync(file, 'utf8')))
  const source = new MinimalSourceFile(text, normalizePath(resolve(file)))
  return app.converter.parseRawComment(source, project.files).content
}

/** A directory of the repository, such as an example, is not part of the site: its name is left, without a link. */
function withoutDirectoryLinks(file, markdown) {
  return markdown.replaceAll(/\[([^\]]+)\]\(([^)\s#]+)\)/gu, (link, text, target) => {
    const path = resolve(dirname(file), target)
    return existsSync(path) && statSync(path).isDirectory() ? text : link
  })
}
