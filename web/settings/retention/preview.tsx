import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type Conditions, rulePreviewQuery } from "../../api/retention.ts";
import { errorText } from "../../common/actions.tsx";
import { NamedList, WhyNamed } from "./named-list.tsx";
import { counted, type Names, ruleInWords } from "./words.ts";

/** What a rule would delete now, by number and by name. */
export function RulePreviewed(props: {
  conditions: Conditions;
  names: Names;
  /** Whether the rule is about to be let loose, rather than looked at. */
  willAct?: boolean;
}) {
  const { conditions, names, willAct = false } = props;
  const { older_than_days, team_id, meeting_type_id, tag, scope } = conditions;
  const preview = useQuery(
    rulePreviewQuery({
      older_than_days,
      team_id: team_id ?? null,
      meeting_type_id: meeting_type_id ?? null,
      tag: tag ?? null,
      scope: scope ?? null,
    }),
  );
  if (preview.isError)
    return (
      <Alert role="alert" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
        {errorText(preview.error)}
      </Alert>
    );
  if (preview.data === undefined)
    return (
      <Stack gap={8} aria-busy="true" role="status" aria-label="Loading the preview">
        <Skeleton height={18} width="80%" />
        <Skeleton height={44} />
        <Skeleton height={120} />
      </Stack>
    );
  const { recordings, held, oldest } = preview.data;
  return (
    <Stack gap="sm">
      <Text fw={600}>{ruleInWords(conditions, names)}</Text>
      <Alert
        variant="light"
        color={recordings > 0 ? "red" : "gray"}
        c="bright"
        icon={
          recordings > 0 ? (
            <IconAlertTriangle size={18} aria-hidden />
          ) : (
            <IconCircleCheck size={18} aria-hidden />
          )
        }
        title={recordings > 0 ? `${counted(recordings, "recording")} would go now` : "Nothing would go now"}
      >
        {willAct
          ? "It begins after a time to think again, a day unless the server is set up otherwise, and goes on with every recording that comes to fit. What it deletes can't be brought back."
          : "With files, transcripts, highlights and notes. What is deleted can't be brought back."}
        {held > 0 ? ` ${counted(held, "more fits and is", "more fit and are")} kept by a legal hold.` : ""}
      </Alert>
      <NamedList label="What would go, the oldest first" recordings={oldest} total={recordings} />
      {oldest.length > 0 ? <WhyNamed /> : null}
    </Stack>
  );
}
