// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IPermit2, PermitProxy} from "./PermitProxy.sol";

/// @title Settles x402 payments of scheme `exact` by Permit2
/// @notice Anyone may send a permit; it moves the whole permitted amount to the recipient that the payer signed.
contract ExactPermitProxy is PermitProxy {
    /// @notice The witness: the payer signs it together with the permit.
    struct Witness {
        address to;
        uint256 validAfter;
    }

    /// @notice The part of the signed EIP-712 type that begins with the witness.
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");

    /// @notice Settles a permit: moves the signed amount.
    /// @param permit Token, amount, the payer's nonce and the deadline.
    /// @param owner The payer, which signed.
    /// @param witness The recipient, and the start of validity.
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
