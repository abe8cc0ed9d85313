/** English words that no German text has. */
const english =
  /\b(?:the|and|of|with|your|you|for|from|this|that|can|were|has|have|as|or|new|add|edit|delete|save|cancel|close|open|show|hide|search|settings|recordings?|users?|which|when|each|more|their|its|is|are|to)\b/i;

/** Emails, URLs, file names and names of settings. */
const notText = /\S*(?:@|:\/\/|\.[a-z]{2}|_)\S*/g;

/** Whether a text that should be in German has English words. */
export function hasEnglish(text: string): boolean {
  return english.test(text.replaceAll(notText, ""));
}
