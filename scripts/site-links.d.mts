/** The links of the pages below a directory that lead nowhere, each as `page: link`. */
export function deadLinks(directory: string): string[]
