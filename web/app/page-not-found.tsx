import { Trans, useLingui } from "@lingui/react/macro";
import { EmptyState } from "../common/states.tsx";

export function PageNotFound() {
  const { t } = useLingui();
  return (
    <EmptyState title={t`Page not found`}>
      <Trans>Check the URL.</Trans>
    </EmptyState>
  );
}
