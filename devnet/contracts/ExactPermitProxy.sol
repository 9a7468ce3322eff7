// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IPermit2, PermitProxy} from "./PermitProxy.sol";

/// @title Settles x402 payments of scheme `exact` by Permit2
/// @notice Anyone may send a permit; it moves all that is permitted to the recipient its payer signed.
contract ExactPermitProxy is PermitProxy {
    /// @notice What the payer signs besides the permit.
    struct Witness {
        address to;
        uint256 validAfter;
    }

    /// @notice The rest of the signed type, from the witness on.
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");

    /// @notice Moves what was signed.
    /// @param permit The token, how much of it, the payer's nonce and until when.
    /// @param owner Who pays, and signed.
    /// @param witness Whom, and since when.
    /// @param signature Over the permit with this contract as spender, in Permit2's EIP-712 domain.
    function settle(
        IPermit2.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        IPermit2.SignatureTransferDetails memory details = IPermit2.SignatureTransferDetails({
            to: witness.to,
            requestedAmount: permit.permitted.amount
        });
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter));
        _settle(permit, details, owner, witness.validAfter, hash, WITNESS_TYPE_STRING, signature);
    }
}
