import { describePaymentMethod } from '../../test/conformance/describe-payment-method.js';
import { transfer } from '../../test/conformance/transfer.js';
import { useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';

const verifiers = useSignedPaymentVerifier();
describePaymentMethod(transfer(verifiers), verifiers);
