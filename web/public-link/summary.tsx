import { Trans, useLingui } from "@lingui/react/macro";
import { Spoiler, Title } from "@mantine/core";
import { Markdown } from "../common/format/markdown.tsx";
import { clock } from "../common/format/time.ts";
import { usePlayerContext } from "../player/context.ts";
import type { Item } from "./api.ts";
import classes from "./public-link.module.css";

/** The summary and the chapters of a recording whose link includes them. */
export function SummaryPanel({ item: { summary, chapters } }: { item: Item }) {
  const { t } = useLingui();
  const { goTo, hasMedia } = usePlayerContext();
  return (
    <section className={classes.summary} aria-labelledby="summary-title">
      <Title order={2} size="h4" id="summary-title">
        <Trans>Summary</Trans>
      </Title>
      {summary === null ? null : (
        <Spoiler maxHeight={220} showLabel={t`Show more`} hideLabel={t`Show less`}>
          <Markdown text={summary} />
        </Spoiler>
      )}
      {chapters.length === 0 ? null : (
        <>
          <Title order={3} size="h5">
            <Trans>Chapters</Trans>
          </Title>
          <ol className={classes.chapters}>
            {chapters.map(({ title, start }) => (
              <li key={start}>
                {hasMedia ? (
                  <button type="button" onClick={() => goTo(start)}>
                    <span>{clock(start)}</span>
                    <span dir="auto">{title}</span>
                  </button>
                ) : (
                  <>
                    <span>{clock(start)}</span>
                    <span dir="auto">{title}</span>
                  </>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
