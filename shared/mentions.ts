/** Characters of a comment, in UTF-16 units. */
export const maxCommentLength = 5000;

/** At most as long as a comment may be, without half a surrogate pair at the end, which PostgreSQL doesn't store. */
export function shortenComment(text: string): string {
  return text.slice(0, maxCommentLength).replace(/[\ud800-\udbff]$/u, "");
}

/** Users that a comment can mention. */
export const maxMentions = 50;

/**
 * Splits a text at the mentions of users: `@` and a full name. The longest name is taken, Ann Lee before Ann; of users with the
 * same name, the first.
 */
export function splitMentions<User extends { readonly name: string }>(
  text: string,
  users: readonly User[],
): (string | User)[] {
  const byLength = users.filter(({ name }) => name !== "").toSorted((a, b) => b.name.length - a.name.length);
  const [start = "", ...rest] = text.split("@");
  const parts: (string | User)[] = [start];
  for (const part of rest) {
    const user = byLength.find(
      ({ name }) => part.startsWith(name) && !/^[\p{L}\p{N}]/u.test(part.slice(name.length)),
    );
    if (user === undefined) parts.push(`@${part}`);
    else parts.push(user, part.slice(user.name.length));
  }
  return parts;
}
