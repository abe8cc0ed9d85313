import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type Receipt, receiptsQuery } from "../../api/settings/retention.ts";
import { dayAndTime, fullTime } from "../../common/format/time.ts";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { ErrorState } from "../../common/states.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, Tag } from "../parts.tsx";

/** Deletions by rules, newest first. */
export function Receipts() {
  const { t } = useLingui();
  const query = useInfiniteQuery(receiptsQuery);
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const receipts = query.data.pages.flatMap(({ receipts }) => receipts);
  if (receipts.length === 0)
    return (
      <NoneYet>
        <Trans>No deletions by rules yet.</Trans>
      </NoneYet>
    );
  return (
    <div>
      <Rows label={t`Receipts`}>
        {receipts.map((receipt) => (
          <ReceiptRow key={receipt.recording_id} receipt={receipt} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

function ReceiptRow({
  receipt: { rule_name, deleted_datetime, recording_id, receipt },
}: {
  receipt: Receipt;
}) {
  const { t } = useLingui();
  const { removed, is_complete } = receipt;
  return (
    <Row
      title={t`Deleted by ${rule_name}`}
      badges={
        is_complete ? null : (
          <Tag tone="warn">
            <Trans>Files pending</Trans>
          </Tag>
        )
      }
      facts={[
        <time key="time" dateTime={deleted_datetime} title={fullTime(deleted_datetime)}>
          {dayAndTime(deleted_datetime)}
        </time>,
        t`recording ${recording_id}`,
        ...whatWasRemoved(removed),
      ]}
    />
  );
}

function whatWasRemoved(removed: Receipt["receipt"]["removed"]): string[] {
  const { objects, transcript_segments: lines, highlights, participants, private_notes: notes } = removed;
  return [
    objects > 0 && plural(objects, { one: "# file", other: "# files" }),
    lines > 0 && plural(lines, { one: "# transcript line", other: "# transcript lines" }),
    highlights > 0 && plural(highlights, { one: "# highlight", other: "# highlights" }),
    participants > 0 && plural(participants, { one: "# participant", other: "# participants" }),
    notes > 0 && plural(notes, { one: "# private note", other: "# private notes" }),
  ].filter((fact) => fact !== false);
}
