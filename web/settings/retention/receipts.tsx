import { useInfiniteQuery } from "@tanstack/react-query";
import { type Receipt, receiptsQuery } from "../../api/retention.ts";
import { LoadMore } from "../../common/endless.tsx";
import { ErrorState } from "../../common/states.tsx";
import { dayAndTime, fullTime } from "../../common/time.ts";
import { NoneYet, Row, Rows, RowsSkeleton, Tag } from "../parts.tsx";
import { counted } from "./words.ts";

/** What rules have deleted, newest first. */
export function Receipts() {
  const query = useInfiniteQuery(receiptsQuery);
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const receipts = query.data.pages.flatMap(({ receipts }) => receipts);
  if (receipts.length === 0) return <NoneYet>No rule has deleted anything yet.</NoneYet>;
  return (
    <div>
      <Rows label="Receipts">
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
  const { removed, is_complete } = receipt;
  const whatWent = [
    [removed.objects, "file"],
    [removed.transcript_segments, "line of transcript", "lines of transcript"],
    [removed.highlights, "highlight"],
    [removed.participants, "participant"],
    [removed.private_notes, "private note"],
  ] as const;
  return (
    <Row
      title={`Deleted by ${rule_name}`}
      badges={is_complete ? null : <Tag tone="warn">Files go later</Tag>}
      facts={[
        <time key="time" dateTime={deleted_datetime} title={fullTime(deleted_datetime)}>
          {dayAndTime(deleted_datetime)}
        </time>,
        `recording ${recording_id}`,
        whatWent
          .filter(([count]) => count > 0)
          .map(([count, one, many]) => counted(count, one, many))
          .join(", ") || null,
      ]}
    />
  );
}
