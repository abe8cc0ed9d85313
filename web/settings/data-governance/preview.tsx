import { plural } from "@lingui/core/macro";
import { Plural, useLingui } from "@lingui/react/macro";
import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type Conditions, rulePreviewQuery } from "../../api/settings/retention.ts";
import { errorText } from "../../common/actions.tsx";
import { describeRule, type Names } from "./describe-rule.ts";
import { NamedList, WhyNamed } from "./named-list.tsx";

/** What a rule would delete now: count and titles. */
export function RulePreview(props: {
  conditions: Conditions;
  names: Names;
  /** Whether the rule is about to be enabled, rather than only previewed. */
  willAct?: boolean;
}) {
  const { t } = useLingui();
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
      <Stack gap={8} aria-busy="true" role="status" aria-label={t`Loading the preview`}>
        <Skeleton height={18} width="80%" />
        <Skeleton height={44} />
        <Skeleton height={120} />
      </Stack>
    );
  const { recordings, held, oldest } = preview.data;
  return (
    <Stack gap="sm">
      <Text fw={600}>{describeRule(conditions, names)}</Text>
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
        title={
          recordings > 0
            ? plural(recordings, { one: "# recording matches now", other: "# recordings match now" })
            : t`Nothing matches now`
        }
      >
        {willAct
          ? t`Starts after a grace period (default one day), and then applies to every recording that matches. Deletion is permanent.`
          : t`Includes files, transcripts, highlights and notes. Deletion is permanent.`}{" "}
        {held > 0 ? (
          <Plural
            value={held}
            one="# more match is on legal hold."
            other="# more matches are on legal hold."
          />
        ) : null}
      </Alert>
      <NamedList label={t`Matching recordings, oldest first`} recordings={oldest} total={recordings} />
      {oldest.length > 0 ? <WhyNamed /> : null}
    </Stack>
  );
}
