// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IPermit2, PermitProxy} from "./PermitProxy.sol";

/// @title Settles x402 payments of scheme `upto` by Permit2
/// @notice Only the facilitator that the payer signed may send a permit; it also states the amount that was used.
contract UptoPermitProxy is PermitProxy {
    /// @notice The witness: the payer signs it together with the permit.
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    /// @notice The part of the signed EIP-712 type that begins with the witness.
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    bytes32 public constant WITNESS_TYPEHASH =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");

    /// @notice The amount is above the permitted amount.
    error AmountExceedsPermitted();

    /// @notice The caller is not the facilitator that the payer signed.
    error UnauthorizedFacilitator();

    /// @notice Settles a permit: moves the used amount, up to the signed maximum.
    /// @param permit Token, maximum amount, the payer's nonce and the deadline.
    /// @param amount The amount, in base units.
    /// @param owner The payer, which signed.
    /// @param witness The recipient, the facilitator that may send it, and the start of validity.
    /// @param signature Over the permit with this contract as spender, in Permit2's EIP-712 domain.
    function settle(
        IPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        require(msg.sender == witness.facilitator, UnauthorizedFacilitator());
        require(amount <= permit.permitted.amount, AmountExceedsPermitted());
        IPermit2.SignatureTransferDetails memory details = IPermit2.SignatureTransferDetails({
            to: witness.to,
            requestedAmount: amount
        });
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter));
        _settle(permit, details, owner, witness.validAfter, hash, WITNESS_TYPE_STRING, signature);
    }
}
