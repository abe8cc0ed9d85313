import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { accessRequestsQuery, declineRequest, grantRequest } from "../../api/recording/access-requests.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { FormError } from "../../common/actions.tsx";
import { dayAndTime } from "../../common/format/time.ts";
import { useRecording } from "../context.ts";
import classes from "./share.module.css";

/** The users who request access, each with Grant and Decline. */
export function AccessRequests() {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const client = useQueryClient();
  const query = accessRequestsQuery(id, view.can.share);
  const { data } = useQuery(query);
  const decide = useMutation({
    mutationFn: ({ userId, isGranted }: { userId: string; isGranted: boolean }) =>
      (isGranted ? grantRequest : declineRequest)(id, userId),
    // Also after an error: someone else may have decided already.
    onSettled: () =>
      Promise.all([refreshRecording(client, id), client.invalidateQueries({ queryKey: query.queryKey })]),
  });
  if (data === undefined || (data.requests.length === 0 && !decide.isError)) return null;
  return (
    <section aria-label={t`Access requests`}>
      <Text size="sm" fw={500}>
        <Trans>Access requests</Trans>
      </Text>
      <FormError error={decide.error} fields={[]} />
      <ul className={classes.shared}>
        {data.requests.map(({ user, requested_datetime }) => (
          <li key={user.id}>
            <span className={classes.name} dir="auto">
              {user.name}
              <small>
                {user.email} · {dayAndTime(requested_datetime)}
              </small>
            </span>
            <Group gap="xs" wrap="nowrap">
              <Button
                size="xs"
                aria-label={t`Grant access to ${{ name: user.name }}`}
                disabled={decide.isPending}
                onClick={() => decide.mutate({ userId: user.id, isGranted: true })}
              >
                <Trans>Grant</Trans>
              </Button>
              <Button
                size="xs"
                variant="default"
                aria-label={t`Decline ${{ name: user.name }}`}
                disabled={decide.isPending}
                onClick={() => decide.mutate({ userId: user.id, isGranted: false })}
              >
                <Trans>Decline</Trans>
              </Button>
            </Group>
          </li>
        ))}
      </ul>
    </section>
  );
}
