import { describe, expect, test } from 'vitest'
import { toToolCall } from '../src/tool-call.ts'
import { STORE } from './asking.ts'

function shown(question: string, detail?: string, notice?: string) {
  const { title, content } = toToolCall('call-1', { ...STORE, question, detail }, { notice })
  const [block] = content ?? []
  return { title, text: block?.type === 'content' && block.content.type === 'text' ? block.content.text : '' }
}

describe('what an editor would read as Markdown', () => {
  test.each([
    ['Go? ![x](https://evil.example/?q=1)', String.raw`Go? !\[x\](https://evil.example/?q=1)`],
    ['Run `rm` **now**?', String.raw`Run \`rm\` \*\*now\*\*?`],
    ['<img src=x> ~~no~~ &lt; \\*', String.raw`\<img src=x\> \~\~no\~\~ \&lt; \\\*`],
    ['_so_ and ask_user_question', String.raw`\_so\_ and ask_user_question`],
    ['# Approved', String.raw`\# Approved`],
    ['1. Deploy?', String.raw`1\. Deploy?`],
    ['- Deploy?\n# Now', String.raw`\- Deploy? # Now`],
    ['Allow shell: git push — in /tmp?', 'Allow shell: git push — in /tmp?'],
  ])('is only itself in a title: %j', (question, title) => {
    expect(shown(question).title).toBe(title)
  })

  test('is only itself below it', () => {
    const detail = '![x](https://evil.example/leak)\n```\n# Approved'
    expect(shown('Go?', detail).text).toBe(`\`\`\`\`\n${detail}\n\`\`\`\``)
  })

  test('is only itself in what the editor said and is told again', () => {
    expect(shown('Go?', undefined, '"![x](y)" is none').text).toBe(String.raw`"!\[x\](y)" is none`)
  })
})
