/** A browser with one tab, driven over WebDriver. */
export interface WebDriver {
  readonly name: string;
  readonly version: string;
  /** Errors and warnings of the console, and uncaught errors, since the last call. In WebKit from when a page is loaded. */
  takeComplaints(): Promise<string[]>;
  /** Opens a URL and waits until it is loaded. */
  navigate(url: string): Promise<void>;
  /** The value of a JavaScript expression, as JSON; promises are awaited. */
  evaluate<T>(expression: string): Promise<T>;
  /** Keyboard and pointer input. WebDriver BiDi has the same. Source: W3C WebDriver, "Actions". */
  perform(actions: readonly object[]): Promise<void>;
  /** Sets the files of the `input` with this CSS selector. */
  chooseFiles(selector: string, paths: readonly string[]): Promise<void>;
  /** Sets the size of the page. */
  resize(width: number, height: number): Promise<void>;
  screenshot(): Promise<Buffer>;
  deleteCookies(): Promise<void>;
  close(): Promise<void>;
}

/** An expression for both protocols: its value becomes text, so that it arrives the same way. */
export function asJson(expression: string): string {
  return `(async () => JSON.stringify((await (${expression})) ?? null))()`;
}
