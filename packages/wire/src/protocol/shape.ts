import type { z } from 'zod'

/**
 * What a schema reads, with the members it names and no others. Members that are not named are kept as well, only that the
 * type does not say so: with an index signature, `Omit` would lose the names, and no interface could be given. Lists are
 * readonly, so that both kinds can be given.
 */
export type Shape<S extends z.ZodType> = Named<z.infer<S>>

type Named<T> = T extends readonly (infer E)[] ? readonly Named<E>[] : T extends object ? NamedMembers<T> : T

// An object that names nothing holds what it likes.
type NamedMembers<T> = keyof WithoutIndex<T> extends never ? T : WithoutIndex<T>

type WithoutIndex<T> = {
  [M in keyof T as string extends M ? never : number extends M ? never : M]: Named<T[M]>
}
