import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ApiError } from "../api/client/api-error.ts";
import { sendAccessRequest } from "../api/recording/access-requests.ts";

/** Requests access to a recording that the user can't see. It says the same whether or not the recording exists. */
export function RequestAccess({ id }: { id: string }) {
  const { t } = useLingui();
  const request = useMutation({ mutationFn: () => sendAccessRequest(id) });
  if (request.isSuccess)
    return (
      <>
        <Alert color="teal" c="bright" role="status" ta="start" mb="md">
          <Trans>Request sent. If the recording exists, its owners can share it with you.</Trans>
        </Alert>
        <BackToLibrary />
      </>
    );
  return (
    <>
      {request.isError ? (
        <Alert color="red" role="alert" ta="start" mb="md" title={t`Couldn't send the request`}>
          {request.error instanceof ApiError ? request.error.message : t`Something went wrong.`}
        </Alert>
      ) : null}
      <Button me="xs" loading={request.isPending} onClick={() => request.mutate()}>
        <Trans>Request access</Trans>
      </Button>
      <BackToLibrary />
    </>
  );
}

function BackToLibrary() {
  return (
    <Button component={Link} to="/" variant="default">
      <Trans>Back to library</Trans>
    </Button>
  );
}
